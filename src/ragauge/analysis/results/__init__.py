"""What analysis finds, as plain frozen values that every report renders."""

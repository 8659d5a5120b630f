"""The areas of the store on SQLAlchemy Core."""

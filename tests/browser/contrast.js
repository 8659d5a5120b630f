// Every text that shows, its colour laid over the backgrounds behind it: how many there are, and the ones of too little
// contrast. axe-core gives up where boxes overlap or text stands in a drawing, and takes long over it.
() => {
    const parts = (css) => {
        const found = css.match(/[\d.]+/g).map(Number), scale = css.startsWith('color(srgb') ? 255 : 1
        return [found[0] * scale, found[1] * scale, found[2] * scale, found[3] ?? 1]
    }
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1)
    const light = (colour) => {
        const [red, green, blue] = colour.map((value) => value / 255)
            .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const known = new Map([[null, [255, 255, 255, 1]]])
    const ground = (node) => {
        if (!known.has(node))
            known.set(node, over(parts(getComputedStyle(node).backgroundColor), ground(node.parentElement)))
        return known.get(node)
    }
    const poor = []
    let seen = 0
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let text = walk.nextNode(); text; text = walk.nextNode()) {
        const node = text.parentElement
        if (!text.data.trim() || node.closest('title, .vh, .skip') ||
            !node.checkVisibility({opacityProperty: true})) continue
        seen++
        const style = getComputedStyle(node), back = ground(node)
        const ink = parts(node.closest('svg') ? style.fill : style.color)
        for (let up = node; up; up = up.parentElement) ink[3] *= Number(getComputedStyle(up).opacity)
        const [more, less] = [light(over(ink, back)), light(back)].sort((a, b) => b - a)
        const ratio = (more + 0.05) / (less + 0.05), size = parseFloat(style.fontSize)
        const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
        if (ratio < (large ? 3 : 4.5))
            poor.push([ratio.toFixed(2), String(node.className.baseVal ?? node.className), text.data.slice(0, 40)])
    }
    return {seen, poor: poor.slice(0, 30)}
}

// Every piece of text below an element with its contrast against what is painted
// behind it, as WCAG 2 counts it. Called with the element; returns the pieces below
// the given ratio, and those that stick out of the element's own box.
(root, least) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const paint = (color) => {
    brush.fillStyle = color;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.unshift(each);
    let behind = paint("white");
    for (const each of chain) behind = paint(getComputedStyle(each).backgroundColor);
    const text = paint(getComputedStyle(element).color);
    const [low, high] = [luminance(behind), luminance(text)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const found = [];
  const box = root.getBoundingClientRect();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility() || element.closest("style")) continue;
    // signs stand beside their word: 3 is enough for what is no text
    const wanted = element.closest("[aria-hidden]") ? 3 : least;
    const ratio = contrast(element);
    if (ratio < wanted) found.push(`${text}: contrast ${ratio.toFixed(2)}`);
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const part of range.getClientRects())
      if (part.right > box.right + 1 || part.left < box.left - 1)
        found.push(`${text}: sticks out`);
  }
  return [...new Set(found)];
}

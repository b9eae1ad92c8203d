// Each card with what a test looks at. `outside`: texts that are not within their card; `covered`: pairs of
// texts that lie on each other; `cut`: elements that hide a part of their text.
() => {
  const short = (element) => element.textContent.trim().slice(0, 60);
  const visible = (element) => element.checkVisibility();
  const texts = (element, selector) => [...element.querySelectorAll(selector)].filter(visible).map((one) => one.textContent);

  /** The lines of text right within an element: one that wraps has several. */
  const written = (element) => [...element.childNodes]
    .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
    .flatMap((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()];
    })
    .filter(({ width, height }) => width > 1 && height > 1)
    .map((box) => ({ box, element }));

  /** By more than the leading that lines share. */
  const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 5;

  const cutOff = (element) => !["visible", "clip"].includes(getComputedStyle(element).overflowX)
    && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1);

  return [...document.querySelectorAll(".card")].map((card) => {
    const { left, top, right, bottom } = card.getBoundingClientRect();
    const all = [...card.querySelectorAll("*")].filter(visible);
    const lines = all.flatMap(written);
    const outside = lines.filter(({ box }) => box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1);
    const covered = lines.flatMap((one, at) => lines.slice(at + 1)
      .filter((other) => other.element !== one.element && meet(one.box, other.box))
      .map((other) => [short(one.element), short(other.element)]));
    return {
      kind: card.dataset.kind,
      title: card.querySelector("h2").textContent,
      units: [...card.querySelectorAll(".units span")].map((one) => one.textContent),
      legend: texts(card, ".legend li"),
      thresholds: [...card.querySelectorAll(".threshold")].map((one) => [one.textContent, one.dataset.inside]),
      empty: texts(card, ".empty").join(""),
      text: card.innerText,
      canvas: card.querySelector("canvas") !== null,
      box: { left, top, right, bottom },
      outside: outside.map(({ element }) => short(element)),
      covered,
      cut: all.filter(cutOff).map(short),
    };
  });
}

"""The style sheet of every HTML view.

Colours come from JupyterLab's own variables; where there are none (an export, another
front end) the fallbacks are mixed with the text colour of the page, so that one sheet
reads well on light and on dark. Nothing is told by colour alone.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CLASS", "STYLE"]

CLASS: Final = "prime-skills"

# `&` stands for the class, said three times: JupyterLab's and nbconvert's own rules for
# tables in an output are that specific, and right-align and stripe every table.
_SHEET: Final = """
& {
  --ps-good: var(--jp-success-color1, #2a9d5c);
  --ps-todo: var(--jp-warn-color1, #e08a00);
  --ps-bad: var(--jp-error-color1, #d9443f);
  --ps-plain: var(--jp-brand-color1, #2f7fd6);
  --ps-quiet: var(--jp-ui-font-color2, #808890);
  --ps-line: var(--jp-border-color2, rgba(128, 136, 144, 0.3));
  --ps-soft: rgba(128, 136, 144, 0.09);
  --ps-dim: color-mix(in srgb, currentColor 66%, transparent);
  --ps-muted: var(--jp-ui-font-color2, var(--ps-dim));
  --ps-mono: var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", monospace);
  --ps-sans: var(--jp-ui-font-family, system-ui, "Segoe UI", "DejaVu Sans", sans-serif);
  box-sizing: border-box;
  max-width: 66rem;
  margin: 4px 0;
  border: 1px solid var(--ps-line);
  border-radius: 8px;
  overflow: hidden;
  color: var(--jp-content-font-color1, inherit);
  font: 13px/1.5 var(--ps-sans);
  text-align: left;
}
& .ps-good { --ps-hue: var(--ps-good); }
& .ps-todo { --ps-hue: var(--ps-todo); }
& .ps-bad { --ps-hue: var(--ps-bad); }
& .ps-plain { --ps-hue: var(--ps-plain); }
& .ps-quiet { --ps-hue: var(--ps-quiet); }
& header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 4px 10px;
  padding: 10px 16px;
  background: var(--ps-soft);
}
& header b { font-size: 15px; font-weight: 650; letter-spacing: -0.01em; }
& table {
  width: 100%;
  margin: 0;
  border: 0;
  border-collapse: collapse;
  table-layout: auto;
  font-size: inherit;
  color: inherit;
}
& tr, & tbody tr:nth-child(odd), & tbody tr:hover { background: transparent; }
& tbody tr:hover > :not([scope="rowgroup"]) { background: var(--ps-soft); }
& thead th {
  padding-top: 6px;
  padding-bottom: 6px;
  font-size: 12px;
  color: var(--ps-muted);
}
& th, & td {
  padding: 9px 8px;
  border: 0;
  border-top: 1px solid var(--ps-line);
  text-align: left;
  vertical-align: top;
  white-space: normal;
  line-height: 1.5;
  font-weight: 400;
  overflow-wrap: anywhere;
  background: transparent;
}
& th:first-child, & td:first-child { padding-left: 16px; }
& th:last-child, & td:last-child { padding-right: 16px; }
& th[scope="rowgroup"] {
  padding: 14px 16px 5px;
  font-size: 11px;
  font-weight: 650;
  letter-spacing: 0.05em;
  text-transform: uppercase;
}
& .ps-group:not(.ps-named) > th { color: var(--ps-muted); }
& .ps-edge > :first-child { box-shadow: inset 3px 0 0 var(--ps-hue); }
& .ps-group + tr > * { border-top-color: transparent; }
& th[scope="row"] { min-width: 7.5em; font-weight: 650; }
& table[aria-label="Checks"] th { min-width: 11em; }
& .ps-muted { color: var(--ps-muted); font-size: 12px; font-weight: 400; }
& .ps-where {
  font-size: 12px;
  overflow-wrap: break-word;
  min-width: 11em;
  color: var(--ps-muted);
}
& .ps-badge {
  display: inline-block;
  padding: 0 9px 0 7px;
  border: 1px solid var(--ps-hue);
  border-color: color-mix(in srgb, var(--ps-hue) 45%, transparent);
  border-radius: 999px;
  background: color-mix(in srgb, var(--ps-hue) 13%, transparent);
  color: inherit;
  color: color-mix(in srgb, var(--ps-hue) 54%, currentColor);
  font-size: 12px;
  font-weight: 600;
  line-height: 20px;
  white-space: nowrap;
}
& .ps-badge i {
  margin-right: 5px;
  font-style: normal;
  color: color-mix(in srgb, var(--ps-hue) 50%, currentColor);
}
& code {
  padding: 1px 6px;
  border: 0;
  border-radius: 4px;
  background: rgba(128, 136, 144, 0.16);
  color: inherit;
  font-family: var(--ps-mono);
  font-size: 12px;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  -webkit-box-decoration-break: clone;
  box-decoration-break: clone;
}
& .ps-line { display: block; margin-top: 4px; }
& .ps-fix b { margin-right: 7px; font-weight: 650; }
& dl {
  display: grid;
  grid-template-columns: max-content 1fr;
  gap: 5px 16px;
  margin: 0;
  padding: 2px 16px 14px;
}
& dt, & dd { float: none; width: auto; margin: 0; padding: 0; }
& dt { font-weight: 400; color: var(--ps-muted); }
& dd { overflow-wrap: anywhere; }
& dl.ps-quote { grid-template-columns: 2.6em 1fr; gap: 3px 8px; padding: 4px 0 0; }
& .ps-asis { font-size: 13px; letter-spacing: 0; text-transform: none; }
& .ps-severity { width: 6.5em; }
& p.ps-lead { margin: 0; padding: 12px 16px; white-space: pre-line; }
& pre {
  margin: 8px 0;
  padding: 10px 12px;
  border: 0;
  border-radius: 6px;
  background: rgba(128, 136, 144, 0.12);
  color: inherit;
  font: 12px/1.5 var(--ps-mono);
  white-space: pre-wrap;
  word-break: normal;
  overflow-wrap: anywhere;
}
& pre code { padding: 0; background: none; }
& pre ins, & pre del { color: inherit; text-decoration: none; }
& pre ins { background: color-mix(in srgb, var(--ps-good) 20%, transparent); }
& pre del { background: color-mix(in srgb, var(--ps-bad) 18%, transparent); }
& .ps-hang {
  display: block;
  padding-left: var(--ps-at);
  text-indent: calc(-1 * var(--ps-at));
}
& section { padding: 12px 16px 8px; }
& section + section { border-top: 1px solid var(--ps-line); }
& section h4 { margin: 0 0 10px; font-size: 13px; font-weight: 650; line-height: 1.5; }
& section h4 .ps-muted { margin-left: 8px; }
& details { border-top: 1px solid var(--ps-line); }
& summary { padding: 9px 16px; cursor: pointer; font-weight: 600; }
& .ps-body { padding: 0 16px 12px; }
& .ps-body h1, & .ps-body h2, & .ps-body h3, & .ps-body h4 {
  margin: 14px 0 6px;
  font-size: 14px;
  font-weight: 650;
  line-height: 1.4;
}
& .ps-body h1 { font-size: 16px; }
& .ps-body > :first-child { margin-top: 0; }
& .ps-body p, & .ps-body ul, & .ps-body ol { margin: 6px 0; }
& .ps-body ul, & .ps-body ol { padding-left: 22px; }
& .ps-body table { width: auto; margin: 8px 0; }
& .ps-body a {
  color: var(--jp-content-link-color, color-mix(in srgb, #2f7fd6 75%, currentColor));
}
& > .ps-skill:first-of-type { border-top: 0; }
& .ps-skill > summary {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 4px 10px;
  padding: 10px 16px;
  background: var(--ps-soft);
  list-style: none;
}
& .ps-skill > summary::before { content: "▸"; color: var(--ps-muted); }
& .ps-skill[open] > summary::before { content: "▾"; }
& .ps-skill > summary::-webkit-details-marker { display: none; }
& .ps-skill > summary b { font-size: 15px; font-weight: 650; }
& .ps-skill > dl { padding: 12px 16px 0; }
& .ps-skill > .ps-body { padding-top: 12px; }
& .ps-said { border-top: 1px solid var(--ps-line); }
& .ps-said h4 { margin: 0 0 6px; color: var(--ps-muted); font-size: 12px; }
& .ps-said .ps-body { padding: 0; }
& .ps-said pre { margin: 0; padding: 0; background: none; font: inherit; }
& section + .ps-notes { padding-top: 2px; }
& .ps-said { padding-bottom: 12px; }
& ul.ps-notes { margin: 0; padding: 0 16px 12px; list-style: none; }
& ul.ps-notes li { margin: 6px 0; }
& .ps-what { width: 70%; }
&:not(.ps-one) { container-type: inline-size; }
@container (max-width: 36rem) {
  & table[aria-label],
  & table[aria-label] tbody,
  & table[aria-label] tr,
  & table[aria-label] th,
  & table[aria-label] td { display: block; width: auto; min-width: 0; }
  & table[aria-label] tr { padding: 0; }
  & table[aria-label] thead { display: none; }
  & table[aria-label] .ps-edge { box-shadow: inset 3px 0 0 var(--ps-hue); }
  & table[aria-label] .ps-edge > :first-child { box-shadow: none; }
  & table[aria-label] tr > * { padding: 2px 16px; border-top-color: transparent; }
  & table[aria-label] tr > :first-child {
    padding-top: 9px;
    border-top-color: var(--ps-line);
  }
  & table[aria-label] tr > :last-child { padding-bottom: 9px; }
  & table[aria-label] .ps-group + tr > :first-child { border-top-color: transparent; }
}
&.ps-one { padding: 8px 14px; width: fit-content; }
"""

STYLE: Final = f"<style>{_SHEET.replace('&', f'.{CLASS}' * 3)}</style>"

// Renders a few named values, one a line, aligned.

import { pad, printable, textWidth, wrap } from './text-width.ts';

const VALUE_WIDTH_MIN = 16;

/** Pairs with an empty value are left out. Values are cleaned of control characters, and wrapped to `columns`. */
export function renderFields(
  fields: readonly (readonly [label: string, value: string])[],
  paintLabel: (text: string) => string,
  columns = Number.POSITIVE_INFINITY,
): string {
  const shown = fields.filter(([, value]) => value !== '');
  const width = shown.reduce((widest, [label]) => Math.max(widest, textWidth(label)), 0);
  const indent = ' '.repeat(width + 2);
  return shown
    .map(([label, value]) => {
      const lines = wrap(printable(value), Math.max(VALUE_WIDTH_MIN, columns - indent.length));
      return `${paintLabel(pad(label, width, 'left'))}  ${lines.join(`\n${indent}`)}\n`;
    })
    .join('');
}

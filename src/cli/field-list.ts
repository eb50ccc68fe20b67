// Renders a few named values, one a line, aligned.

import { pad, printable, textWidth } from './text-width.ts';

/** Pairs with an empty value are left out. Values are cleaned of control characters. */
export function renderFields(
  fields: readonly (readonly [label: string, value: string])[],
  paintLabel: (text: string) => string,
): string {
  const shown = fields.filter(([, value]) => value !== '');
  const width = shown.reduce((widest, [label]) => Math.max(widest, textWidth(label)), 0);
  return shown.map(([label, value]) => `${paintLabel(pad(label, width, 'left'))}  ${printable(value)}\n`).join('');
}

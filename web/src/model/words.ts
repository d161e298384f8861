/** Numbers and times as people read them. */

const UNITS: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
];

/** Three significant digits, as elsewhere in Takt: 1.23 ms, 45.6 µs, 789 ns. */
export function duration(nanoseconds: number | null): string {
  if (nanoseconds === null) return '–';
  const size = Math.abs(nanoseconds);
  for (const [factor, unit] of UNITS) {
    // A value that rounds to 1000 of the smaller unit is shown as 1 of the larger.
    if (size >= factor * 0.9995) return `${digits(nanoseconds / factor)} ${unit}`;
  }
  return `${Math.round(nanoseconds)} ns`;
}

function digits(value: number): string {
  const size = Math.abs(value);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toFixed(decimals);
}

/** A moment of the recording, exact to `step` nanoseconds. */
export function moment(nanoseconds: number, step: number): string {
  const [factor, unit] = UNITS.find(([factor]) => nanoseconds >= factor || step >= factor) ?? [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(Math.log10(factor / Math.max(step, 1)) - 1e-9));
  return `${(nanoseconds / factor).toFixed(Math.min(decimals, 9))} ${unit}`;
}

/** The number with thin spaces between thousands. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u2009');
}

export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(part * 10 < whole ? 1 : 0)} %` : '–';
}

/** Names may hold anything: line breaks and what reverses the direction of text are shown as such. */
export function printable(name: string): string {
  return name.replace(
    // eslint-disable-next-line no-control-regex -- these are the ones meant
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

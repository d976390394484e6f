/**
 * What providers ask for, in micro-dollars for a million tokens: 3 dollars are 3_000_000.
 *
 * One row for each family, found by the start of the model's id; the first row that fits counts, so the
 * narrower name stands above the wider one. Prices are list prices at the time of writing; a provider that
 * changes them changes a row here. A model of a family that no row names is booked at the family's last
 * row: a figure that is too high is noticed, one of zero is not.
 *
 * `write` and `writeLong` are what it costs to put tokens into the prompt cache (for 5 minutes, for an
 * hour), `read` what cached tokens cost when they are read; `long` are the prices of requests whose prompt
 * is above `long.above` tokens.
 */
export type Price = {
  input: number
  output: number
  read: number
  write: number
  writeLong: number
  /** Tokens that fit the model's window. */
  window: number
  long?: { above: number; input: number; output: number; read: number }
}

export type Provider = 'anthropic' | 'google' | 'openai'

const dollar = 1_000_000

/** Anthropic: writing the cache costs 1.25 of the input (2 for an hour), reading it a tenth. */
function claude(input: number, output: number, window = 200_000): Price {
  return {
    input: input * dollar,
    output: output * dollar,
    read: input * 0.1 * dollar,
    write: input * 1.25 * dollar,
    writeLong: input * 2 * dollar,
    window,
  }
}

/** Google and OpenAI put tokens into the cache at the price of input. */
function plain(input: number, output: number, read: number, window: number, long?: Price['long']): Price {
  return {
    input: input * dollar,
    output: output * dollar,
    read: read * dollar,
    write: input * dollar,
    writeLong: input * dollar,
    window,
    ...(long ? { long } : {}),
  }
}

function above(tokens: number, input: number, output: number, read: number): Price['long'] {
  return { above: tokens, input: input * dollar, output: output * dollar, read: read * dollar }
}

const million = 1_048_576

export const prices: Record<Provider, readonly (readonly [start: string, price: Price])[]> = {
  anthropic: [
    ['claude-3-haiku', claude(0.25, 1.25)],
    ['claude-3-5-haiku', claude(0.8, 4)],
    ['claude-haiku', claude(1, 5)],
    ['haiku', claude(1, 5)],
    ['claude-3-opus', claude(15, 75)],
    ['claude-opus-4-0', claude(15, 75)],
    ['claude-opus-4-1', claude(15, 75)],
    ['claude-opus-4-2025', claude(15, 75)],
    ['claude-opus', claude(5, 25)],
    ['opus', claude(5, 25)],
    ['claude-3', claude(3, 15)],
    ['claude-sonnet', claude(3, 15)],
    ['sonnet', claude(3, 15)],
    ['', claude(5, 25)],
  ],
  google: [
    ['gemini-3.1-flash-lite', plain(0.25, 1.5, 0.025, million)],
    ['gemini-3-flash', plain(0.5, 3, 0.05, million)],
    ['gemini-3', plain(2, 12, 0.2, million, above(200_000, 4, 18, 0.4))],
    ['gemini-2.5-flash-lite', plain(0.1, 0.4, 0.01, million)],
    ['gemini-2.5-flash', plain(0.3, 2.5, 0.03, million)],
    ['gemini-2.5-pro', plain(1.25, 10, 0.125, million, above(200_000, 2.5, 15, 0.25))],
    ['gemini-2.0-flash-lite', plain(0.075, 0.3, 0.01875, million)],
    ['gemini-2.0-flash', plain(0.1, 0.4, 0.025, million)],
    ['', plain(2, 12, 0.2, million, above(200_000, 4, 18, 0.4))],
  ],
  openai: [
    ['gpt-5-nano', plain(0.05, 0.4, 0.005, 400_000)],
    ['gpt-5-mini', plain(0.25, 2, 0.025, 400_000)],
    ['gpt-5.1-codex-mini', plain(0.25, 2, 0.025, 400_000)],
    ['gpt-5-codex-mini', plain(0.25, 2, 0.025, 400_000)],
    ['gpt-5-pro', plain(15, 120, 15, 400_000)],
    ['gpt-5.1', plain(1.25, 10, 0.125, 400_000)],
    ['gpt-5.', plain(1.75, 14, 0.175, 400_000)],
    ['gpt-5', plain(1.25, 10, 0.125, 400_000)],
    ['gpt-4.1-nano', plain(0.1, 0.4, 0.025, million)],
    ['gpt-4.1-mini', plain(0.4, 1.6, 0.1, million)],
    ['gpt-4.1', plain(2, 8, 0.5, million)],
    ['gpt-4o-mini', plain(0.15, 0.6, 0.075, 128_000)],
    ['gpt-4o', plain(2.5, 10, 1.25, 128_000)],
    ['codex-mini', plain(1.5, 6, 0.375, 200_000)],
    ['', plain(1.75, 14, 0.175, 400_000)],
  ],
}

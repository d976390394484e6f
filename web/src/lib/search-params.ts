/** Reads one search parameter; undefined where the address holds something else than the page knows. */
type Reader<Value> = (value: unknown) => Value | undefined

/**
 * The search parameters of a page, for the router: what is not named is dropped, and what is unknown of a named
 * one is left out. By hand, for the first page carries the addresses of all pages.
 */
export function searchOf<Values extends Record<string, unknown>>(
  readers: {
    [Name in keyof Values]: Reader<Values[Name]>
  },
): (search: Record<string, unknown>) => Partial<Values> {
  const entries: [string, Reader<unknown>][] = Object.entries(readers)
  return (search) => {
    const known = entries.flatMap(([name, read]) => {
      const value = read(search[name])
      return value === undefined ? [] : [[name, value]]
    })
    // Each value comes from the reader of its name.
    return Object.fromEntries(known) as Partial<Values>
  }
}

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : undefined)

export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)

/** Whole numbers within both limits. */
export const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> =>
  (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most ? Number(value) : undefined

export const oneOf =
  <const Value extends string>(values: readonly Value[]): Reader<Value> =>
  (value) =>
    values.find((each) => each === value)

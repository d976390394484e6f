/** Reads one search parameter; undefined for an invalid value. */
type Reader<Value> = (value: unknown) => Value | undefined

/**
 * The search parameters of a page for the router. Drops unknown parameters and invalid values. Written by
 * hand to keep zod out of the first page's code.
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
    // Each value has the type of the reader with the same key.
    return Object.fromEntries(known) as Partial<Values>
  }
}

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : undefined)

export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)

/** An integer within both limits, inclusive. */
export const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> =>
  (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most ? Number(value) : undefined

export const oneOf =
  <const Value extends string>(values: readonly Value[]): Reader<Value> =>
  (value) =>
    values.find((each) => each === value)

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's own `X-Request-ID` when it is a valid one, else a new id. */
export function requestIdOf(given: string | string[] | undefined, create: () => string): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : create()
}

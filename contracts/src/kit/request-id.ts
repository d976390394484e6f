const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the caller's `X-Request-ID` if it is valid, else a new id. */
export function requestIdOf(given: string | string[] | undefined, create: () => string): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : create()
}

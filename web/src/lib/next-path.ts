/**
 * Where a person goes after signing in: the path they came from, when it is one of this application. Anything
 * that could lead to another host is the start page: `//host`, `/\host`, a scheme, control characters.
 */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next)) return '/'
  return next.startsWith('/login') || next.startsWith('/setup') ? '/' : next
}

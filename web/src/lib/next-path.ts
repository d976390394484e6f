/**
 * The path to open after sign-in. Returns the start page for anything that could lead to another host:
 * `//host`, `/\host`, a scheme, control characters.
 */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next)) return '/'
  return next.startsWith('/login') || next.startsWith('/setup') ? '/' : next
}

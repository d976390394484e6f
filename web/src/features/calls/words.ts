/** Whom a call was made to, as its execution's message begins: `Call to +15550123`. */
export function calledNumber(message: string | null): string {
  return /^Call to (\+\d+)/.exec(message ?? '')?.[1] ?? 'A call'
}

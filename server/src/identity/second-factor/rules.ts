import type { Role } from '@roost/contracts/kit/access'

/** Returns what a sign-in needs after its first step, or null if nothing. */
export function demandOf(
  account: { role: Role; mfa_enrolled_at: string | null },
  requiredRoles: readonly Role[],
): { mfa_enrolled: boolean; enrollment_required: boolean } | null {
  if (account.mfa_enrolled_at !== null) return { mfa_enrolled: true, enrollment_required: false }
  return requiredRoles.includes(account.role) ? { mfa_enrolled: false, enrollment_required: true } : null
}

export type PresentedCode = { kind: 'totp' | 'recovery'; text: string }

/** Parses a typed code; null if it has the form of neither kind. */
export function readCode(typed: string): PresentedCode | null {
  const text = typed.replaceAll(/[\s-]/g, '').toUpperCase()
  if (/^\d{6}$/.test(text)) return { kind: 'totp', text }
  return /^[A-Z0-9]{10}$/.test(text) ? { kind: 'recovery', text } : null
}

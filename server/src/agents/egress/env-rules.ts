import { PutEgressCredential } from '@roost/contracts/agents/egress'
import { readAssignments, rewriteAssignments } from '@roost/contracts/kit/dotenv'
import { namesVariable, suppressedVariables } from '@roost/contracts/link/credentials'
import { placeholderPrefix } from '@roost/contracts/link/egress'

/** A bound variable as `.env` sees it. */
export type Kept = {
  name: string
  placeholder: string
  /** Whether the platform has a value; without one there is nothing that the placeholder stands for. */
  hasValue: boolean
}

/** Values of bound variables that stand in the text themselves; the last one of a name counts. */
export function valuesIn(text: string, names: ReadonlySet<string>): Map<string, string> {
  const found = readAssignments(text).filter(
    ({ name, value }) => names.has(name) && value !== '' && !value.startsWith(placeholderPrefix),
  )
  return new Map(found.map(({ name, value }) => [name, value]))
}

/**
 * The text with placeholders for what is bound. A placeholder of what is bound no more is taken out: it stands
 * for nothing. A value that was taken away is replaced wherever else it stands in the text.
 */
export function withPlaceholders(
  text: string,
  kept: readonly Kept[],
  taken: ReadonlyMap<string, string>,
): string {
  // What nothing is bound in stays byte for byte.
  if (kept.length === 0 && !text.includes(placeholderPrefix)) return text
  const byName = new Map(kept.filter(({ hasValue }) => hasValue).map((each) => [each.name, each.placeholder]))
  const rewritten = rewriteAssignments(text, (name, value) => {
    const placeholder = byName.get(name)
    if (placeholder !== undefined) return value === placeholder ? null : placeholder
    return value.startsWith(placeholderPrefix) ? '' : null
  })
  const cleaned = [...taken].reduce(
    (result, [name, value]) => result.replaceAll(value, byName.get(name) ?? ''),
    rewritten,
  )
  const present = new Set(readAssignments(cleaned).map(({ name }) => name))
  const missing = [...byName].filter(([name]) => !present.has(name))
  if (missing.length === 0) return cleaned
  const begun = cleaned === '' || cleaned.endsWith('\n') ? cleaned : `${cleaned}\n`
  return `${begun}${missing.map(([name, placeholder]) => `${name}=${placeholder}\n`).join('')}`
}

/** Why a value cannot be kept here; null when it can. */
export function valueFault(value: string): string | null {
  const checked = PutEgressCredential.shape.value.safeParse(value)
  return checked.success ? null : (checked.error.issues[0]?.message ?? 'is not valid')
}

/** Why a variable cannot be bound; null when it can. */
export function nameFault(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name)) return 'must be the name of a variable'
  return namesVariable(suppressedVariables, name) ? 'is kept by the platform and does not reach a run' : null
}

import { helpPathOf } from '../lib/fault.ts'

/** The code of a failure, with a link to the page about it. Opens apart, so that unsaved input stays. */
export function FaultCode({ code }: { code: string }) {
  const path = helpPathOf(code)
  if (path === null) return <code>{code}</code>
  return (
    <a href={path} target="_blank" rel="noreferrer" className="underline" aria-label={`Help for ${code}`}>
      <code>{code}</code>
    </a>
  )
}

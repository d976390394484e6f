import type { KeyScope } from '@roost/contracts/kit/access'
import { Check, X } from 'lucide-react'
import { scopeWords } from './scopes.ts'

/** The permissions of a scope, its exclusions and when a key of it ends. */
export function ScopeFacts({ scope }: { scope: KeyScope }) {
  const { hint, reaches, never, ends } = scopeWords[scope]
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p className="text-muted">{hint}</p>
      <div>
        <h4 className="font-medium text-xs">Allowed</h4>
        <ul className="mt-1 flex flex-col gap-1">
          {reaches.map((line) => (
            <li key={line} className="flex gap-2">
              <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-success" />
              {line}
            </li>
          ))}
        </ul>
      </div>
      <div>
        <h4 className="font-medium text-xs">Not allowed</h4>
        <ul className="mt-1 flex flex-col gap-1">
          {never.map((line) => (
            <li key={line} className="flex gap-2">
              <X aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
              {line}
            </li>
          ))}
        </ul>
      </div>
      <p className="text-muted text-xs">{ends}</p>
    </div>
  )
}

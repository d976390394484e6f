import { passwordLength } from '@roost/contracts/identity/setup'
import { strengthOf } from './password-strength.ts'

const fills = ['bg-line-strong', 'bg-danger', 'bg-warning', 'bg-success'] as const

/** Three bars and a label, announced when it changes. */
export function PasswordStrength({ password }: { password: string }) {
  if (password === '') return null
  const { level, words } = strengthOf(password, passwordLength.least)
  return (
    <div className="-mt-2 flex items-center gap-3">
      <div aria-hidden className="flex flex-1 gap-1">
        {[1, 2, 3].map((bar) => (
          <span key={bar} className={`h-1 flex-1 rounded-full ${bar <= level ? fills[level] : 'bg-line'}`} />
        ))}
      </div>
      <p role="status" className="text-muted text-xs">
        {words}
      </p>
    </div>
  )
}

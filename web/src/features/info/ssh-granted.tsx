import type { SshAccess } from '@roost/contracts/agents/settings'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ExactTime } from '../../ui/time.tsx'

/** The login command and its expiry. */
export function SshGranted({ access }: { access: SshAccess }) {
  const { connection, expires_at: expiresAt } = access
  // The command is shown above and can be selected.
  const instructions = access.instructions.filter((step) => !step.includes(connection.command))
  return (
    <div className="flex flex-col gap-4 text-sm">
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">Command</span>
        <div className="flex items-start gap-1 rounded-md border border-line bg-sunken p-1">
          <code className="min-w-0 flex-1 px-1.5 py-1 text-xs break-all select-all">
            {connection.command}
          </code>
          <CopyButton text={connection.command} label="Copy command" />
        </div>
      </div>
      {instructions.length > 0 && (
        <ol className="list-decimal space-y-1 pl-5 text-muted">
          {instructions.map((step) => (
            <li key={step} className="break-words">
              {step}
            </li>
          ))}
        </ol>
      )}
      <p className="text-muted">
        Valid until <ExactTime at={expiresAt} />.
      </p>
    </div>
  )
}

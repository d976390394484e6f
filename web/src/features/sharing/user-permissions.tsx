import { Check, X } from 'lucide-react'
import type { ReactNode } from 'react'

const may = [
  'View files, logs, schedules, skills and runs',
  'Chat, send tasks, and start fan-outs and loops',
  'Start and stop the agent and its runs',
  'Edit files, unless they may only read',
  'Create own schedules, which run with the permissions of their creator',
  'Answer questions of the agent (operators and above)',
]

const mayNot = [
  'Change settings, credentials and tags',
  'Share the agent and set which agents it may call',
  'Enable, disable, trigger and delete schedules',
  'Create webhooks, subscriptions and public links',
  'Rename or delete the agent',
]

export function UserPermissions() {
  return (
    <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
      <Lines title="Users with access" icon={<Check aria-hidden className="text-success" />} lines={may} />
      <Lines
        title="Only the owner and admins"
        icon={<X aria-hidden className="text-danger" />}
        lines={mayNot}
      />
    </div>
  )
}

function Lines({ title, icon, lines }: { title: string; icon: ReactNode; lines: readonly string[] }) {
  return (
    <div>
      <h3 className="font-medium text-sm">{title}</h3>
      <ul className="mt-1.5 flex flex-col gap-1.5 text-sm">
        {lines.map((line) => (
          <li key={line} className="flex gap-2 [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0">
            {icon}
            <span className="min-w-0">{line}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

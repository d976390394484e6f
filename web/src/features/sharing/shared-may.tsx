import { Check, X } from 'lucide-react'
import type { ReactNode } from 'react'

const may = [
  'Read it: files, logs, schedules, skills, executions',
  'Chat with it and give it tasks, fan-outs and loops',
  'Start and stop it, and end its runs',
  'Write its files, and make schedules of their own',
  'Answer what it asks, as operators and above',
]

const mayNot = [
  'Change its settings, credentials and tags',
  'Share it on, or decide which agents it may call',
  'Switch schedules on and off, trigger or delete them',
  'Make webhooks, subscriptions and public links',
  'Rename or delete it',
]

export function SharedMay() {
  return (
    <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
      <Lines title="They may" icon={<Check aria-hidden className="text-success" />} lines={may} />
      <Lines title="Only the owner" icon={<X aria-hidden className="text-danger" />} lines={mayNot} />
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

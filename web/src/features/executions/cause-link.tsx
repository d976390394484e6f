import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CauseTarget } from './cause.ts'

/** Text that links to the cause of a run, or plain text without a target. `name`: the agent of the run. */
export function CauseLink(props: { name: string; target: CauseTarget | null; children: ReactNode }) {
  const { name, target, children } = props
  if (target === null) return <span className="break-all">{children}</span>
  switch (target.to) {
    case 'execution':
      return (
        <Link
          to="/agents/$name/executions/$id"
          params={{ name: target.agent, id: target.id }}
          className={linkClass}
        >
          {children}
        </Link>
      )
    case 'any_execution':
      return (
        <Link to="/executions/$id" params={{ id: target.id }} className={linkClass}>
          {children}
        </Link>
      )
    case 'agent':
      return (
        <Link to="/agents/$name" params={{ name: target.name }} className={linkClass}>
          {children}
        </Link>
      )
    case 'session':
      return (
        <Link
          to="/agents/$name"
          params={{ name }}
          search={{ tab: 'chat', session: target.id }}
          className={linkClass}
        >
          {children}
        </Link>
      )
    case 'fan_out':
      return (
        <Link
          to="/agents/$name"
          params={{ name }}
          search={{ tab: 'executions', fan_out: target.id }}
          className={linkClass}
        >
          {children}
        </Link>
      )
    case 'tab':
      return (
        <Link to="/agents/$name" params={{ name }} search={{ tab: target.tab }} className={linkClass}>
          {children}
        </Link>
      )
  }
}

export const linkClass = 'text-accent break-words hover:underline'

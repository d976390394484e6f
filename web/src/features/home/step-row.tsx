import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { buttonClass } from '../../ui/button.tsx'
import type { Step, StepId } from './steps.ts'
import { TemplateChoices } from './template-choices.tsx'

const words: Record<StepId, { title: string; hint: string }> = {
  key: {
    title: 'Add a model key',
    hint: 'The API key of Anthropic, Google or OpenAI. Agents never receive it.',
  },
  agent: {
    title: 'Create an agent',
    hint: 'Start from a template: it has instructions, schedules and a list of required credentials.',
  },
  chat: { title: 'Chat with an agent', hint: 'Give it a first task and watch what it does.' },
  schedule: { title: 'Create a schedule', hint: 'The agent then works at set times, also at night.' },
  invite: {
    title: 'Invite someone',
    hint: 'Allow an e-mail address to sign in. Sharing an agent does so as well.',
  },
}

type StepRowProps = {
  step: Step
  /** The agent of the steps that need one; null without agents. */
  agent: string | null
}

export function StepRow({ step: { id, isDone, isBlocked }, agent }: StepRowProps) {
  const { title, hint } = words[id]
  const Mark = isDone ? CircleCheck : Circle
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 py-2.5 first:pt-0 last:pb-0">
      <Mark aria-hidden className={`mt-0.5 size-4 shrink-0 ${isDone ? 'text-success' : 'text-faint'}`} />
      <div className="min-w-0 flex-1 basis-48 text-sm">
        <p className={isDone ? 'text-muted' : 'font-medium'}>
          {title}
          <span className="sr-only">{isDone ? ' (done)' : ' (open)'}</span>
        </p>
        {!isDone && <p className="text-muted">{isBlocked ? 'Create an agent before this step.' : hint}</p>}
        {id === 'agent' && !isDone && <TemplateChoices />}
      </div>
      {!isDone && !isBlocked && (
        // On a phone below the text, in line with it.
        <div className="max-sm:w-full max-sm:pl-7">
          <StepLink id={id} agent={agent} />
        </div>
      )}
    </li>
  )
}

function StepLink({ id, agent: name }: { id: StepId; agent: string | null }) {
  const className = buttonClass({ size: 'sm' })
  if (id === 'key') {
    return (
      <Link to="/settings" search={{ tab: 'integrations' }} className={className}>
        Add key
      </Link>
    )
  }
  if (id === 'agent') {
    return (
      <Link to="/agents" search={{ create: true }} className={className}>
        Create agent
      </Link>
    )
  }
  if (id === 'invite') {
    return (
      <Link to="/people" className={className}>
        Go to people
      </Link>
    )
  }
  if (name === null) return null
  return id === 'chat' ? (
    <Link to="/agents/$name" params={{ name }} search={{ tab: 'chat' }} className={className}>
      Open chat
    </Link>
  ) : (
    <Link
      to="/agents/$name"
      params={{ name }}
      search={{ tab: 'schedules', create: true }}
      className={className}
    >
      New schedule
    </Link>
  )
}

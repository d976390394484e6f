import type { AgentDetails } from '@roost/contracts/agents/agent'
import { demoMessages } from '@roost/contracts/operations/demo'
import { useSuspenseQuery } from '@tanstack/react-query'
import { MessageSquareText } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { meQuery } from '../users/queries.ts'

const introduction = 'What can you do for me?'
const suggestions = [
  introduction,
  'List the files in your workspace and describe them.',
  'What did you work on last?',
]
/** The scripted model of a demo does only what it has a script for. */
const demoSuggestions = [introduction, demoMessages.summarizeTickets, demoMessages.fixRounding]

/** Shown before the first message. */
export function ChatWelcome({
  agent,
  onSuggest,
}: {
  agent: AgentDetails
  onSuggest: (text: string) => void
}) {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  return (
    <EmptyState
      icon={<MessageSquareText aria-hidden />}
      title={`Chat with ${agent.label ?? agent.name}`}
      description="The agent answers step by step, can use files you attach, and keeps working when you leave the page."
      action={(me.demo ? demoSuggestions : suggestions).map((text) => (
        <Button key={text} size="sm" className="font-normal" onClick={() => onSuggest(text)}>
          {text}
        </Button>
      ))}
    />
  )
}

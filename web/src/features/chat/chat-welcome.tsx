import type { AgentDetails } from '@roost/contracts/agents/agent'
import { MessageSquareText } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'

const suggestions = [
  'What can you do for me?',
  'List the files in your workspace and describe them.',
  'What did you work on last?',
]

/** Shown before the first message. */
export function ChatWelcome({
  agent,
  onSuggest,
}: {
  agent: AgentDetails
  onSuggest: (text: string) => void
}) {
  return (
    <EmptyState
      icon={<MessageSquareText aria-hidden />}
      title={`Chat with ${agent.label ?? agent.name}`}
      description="The agent answers step by step, can use files you attach, and keeps working when you leave the page."
      action={suggestions.map((text) => (
        <Button key={text} size="sm" className="font-normal" onClick={() => onSuggest(text)}>
          {text}
        </Button>
      ))}
    />
  )
}

import { Bird, Plus } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'

/** The first thing a new installation shows. `onCreate` is null for people who may not create agents. */
export function NoAgents({ onCreate }: { onCreate: (() => void) | null }) {
  return (
    <EmptyState
      icon={<Bird />}
      title="No agents yet"
      description={
        onCreate
          ? 'An agent is a container with a workspace of its own, in which a coding CLI works for you. Create one, then chat with it.'
          : 'Nobody has shared an agent with you yet. Ask the owner of one to share it with your address.'
      }
      action={
        onCreate ? (
          <Button variant="primary" icon={<Plus />} onClick={onCreate}>
            Create your first agent
          </Button>
        ) : undefined
      }
    />
  )
}

/** When agents are there and the filter shows none of them. */
export function NoMatch({ onClear }: { onClear(): void }) {
  return (
    <EmptyState
      title="No agent matches"
      description="Other words, another status or fewer tags may find it."
      action={<Button onClick={onClear}>Clear the filter</Button>}
    />
  )
}

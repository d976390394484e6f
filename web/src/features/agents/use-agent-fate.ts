import { useEffect, useEffectEvent, useState } from 'react'
import { useApp } from '../../shell/app-context.ts'

/** What becomes of the agent that is shown: `onRenamed` is told its new name; deleted is deleted. */
export function useAgentFate(name: string, onRenamed: (newName: string) => void): { isDeleted: boolean } {
  const { live } = useApp()
  const [deleted, setDeleted] = useState<string | null>(null)
  const follow = useEffectEvent(onRenamed)
  useEffect(
    () =>
      live.onEvent((event) => {
        const { type, data } = event
        if (type === 'agent_renamed' && event.old_name === name && typeof event.new_name === 'string') {
          follow(event.new_name)
        }
        const named = typeof data === 'object' && data !== null && 'name' in data ? data.name : null
        if (type === 'agent_deleted' && (named ?? event.agent_name) === name) setDeleted(name)
        // A name that is free again may be given to another one.
        if (type === 'agent_created' && named === name) setDeleted(null)
      }),
    [live, name],
  )
  return { isDeleted: deleted === name }
}

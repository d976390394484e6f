import type { ChatSession } from '@roost/contracts/conversations/chat'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApi } from '../../shell/app-context.ts'
import { undoMs } from '../../ui/message-time.ts'
import { toast } from '../../ui/toast.tsx'
import { chatKeys, closeSession, removeSession } from './queries.ts'
import { titleOf } from './session-list.tsx'

type Removal = { session: ChatSession; how: 'close' | 'delete' }

/**
 * Closing and deleting cannot be reverted, so they run when the time for Undo has passed or the page is left.
 * `pending`: the affected conversations.
 */
export function useSessionRemoval(agentName: string) {
  const api = useApi()
  const queries = useQueryClient()
  const [pending, setPending] = useState<ReadonlyMap<string, Removal['how']>>(new Map())
  const waiting = useRef(new Map<string, () => Promise<void>>())

  const show = (id: string, how: Removal['how'] | null) =>
    setPending((before) => {
      const next = new Map(before)
      if (how) next.set(id, how)
      else next.delete(id)
      return next
    })

  async function carryOut({ session: { id }, how }: Removal): Promise<void> {
    try {
      await (how === 'close' ? closeSession : removeSession)(api, agentName, id)
      if (how === 'delete') queries.removeQueries({ queryKey: chatKeys.messages(agentName, id) })
      await queries.invalidateQueries({ queryKey: chatKeys.all(agentName) })
    } catch (error) {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    } finally {
      show(id, null)
    }
  }

  function remove(session: ChatSession, how: Removal['how']): void {
    const { id } = session
    show(id, how)
    const run = () => {
      clearTimeout(timer)
      if (!waiting.current.delete(id)) return Promise.resolve()
      dismiss()
      return carryOut({ session, how })
    }
    const timer = setTimeout(run, undoMs())
    waiting.current.set(id, run)
    const dismiss = toast({
      title: how === 'close' ? 'Conversation closed' : 'Conversation deleted',
      description: titleOf(session),
      action: {
        label: 'Undo',
        onAction: () => {
          clearTimeout(timer)
          if (waiting.current.delete(id)) show(id, null)
        },
      },
    })
  }

  useEffect(() => {
    const all = waiting.current
    const finish = () => {
      for (const run of [...all.values()]) void run()
    }
    window.addEventListener('pagehide', finish)
    return () => {
      window.removeEventListener('pagehide', finish)
      finish()
    }
  }, [])

  return { pending, remove }
}

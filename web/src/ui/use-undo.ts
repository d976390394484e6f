import { useEffect, useRef, useState } from 'react'
import { undoMs } from './message-time.ts'
import { toast } from './toast.tsx'

export type Undoable = {
  /** Identifies the action. */
  id: string
  /** The affected items, when there are several; default: `id`. */
  ids?: readonly string[]
  /** The message, worded as if the action were done. */
  title: string
  description?: string
  run: () => Promise<void>
}

/**
 * For actions that cannot be reverted: they run when the time for Undo has passed, or when the page is left.
 * `pending` has the ids to show as done.
 */
export function useUndo() {
  const [pending, setPending] = useState<ReadonlySet<string>>(new Set())
  const waiting = useRef(new Map<string, () => Promise<void>>())

  function forget(ids: readonly string[]): void {
    setPending((before) => new Set([...before].filter((other) => !ids.includes(other))))
  }

  function later({ id, ids = [id], title, description, run }: Undoable): void {
    setPending((before) => new Set([...before, ...ids]))
    const finish = async () => {
      clearTimeout(timer)
      if (!waiting.current.delete(id)) return
      dismiss()
      await run().finally(() => forget(ids))
    }
    const timer = setTimeout(() => void finish(), undoMs())
    waiting.current.set(id, finish)
    const dismiss = toast({
      title,
      description,
      action: {
        label: 'Undo',
        onAction: () => {
          clearTimeout(timer)
          if (waiting.current.delete(id)) forget(ids)
        },
      },
    })
  }

  /** Runs the picked pending actions immediately, when another action needs their result. */
  async function now(isPicked: (id: string) => boolean): Promise<void> {
    const picked = [...waiting.current].filter(([id]) => isPicked(id))
    await Promise.all(picked.map(([, finish]) => finish()))
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

  return { pending, later, now }
}

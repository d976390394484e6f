import { useEffect, useRef, useState } from 'react'
import { undoMs } from './message-time.ts'
import { toast } from './toast.tsx'

export type Undoable = {
  /** Tells what is the same thing. */
  id: string
  /** What it does away with, where that is several things; else `id` alone. */
  ids?: readonly string[]
  /** Said at once, as if it were done. */
  title: string
  description?: string
  run: () => Promise<void>
}

/**
 * For what cannot be taken back once it is done: it is done when the time for Undo has passed, or when the page
 * is left. `pending` names what is to be done, to be shown as if it were.
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

  /** Does at once what waits and is picked: before something else needs its outcome. */
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

import { type CanvasSummary, deleteCanvas, pinCanvas } from '@roost/contracts/conversations/canvas'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { nameOf } from './names.ts'
import { canvasesQuery, canvasKey } from './queries.ts'

export type CanvasActions = ReturnType<typeof useCanvasActions>

/** What an owner does with canvases. `pending`: those that are shown as if they were gone. */
export function useCanvasActions(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const refresh = () => queries.invalidateQueries({ queryKey: canvasKey(name) })
  const complain = (error: unknown) => {
    const { sentence, code } = describeFault(error)
    toast({ title: sentence, description: code, tone: 'danger' })
  }

  async function pin({ canvas_id }: CanvasSummary, pinned: boolean): Promise<void> {
    queries.setQueryData(canvasesQuery(api, name).queryKey, (before) =>
      before?.map((each) => (each.canvas_id === canvas_id ? { ...each, pinned } : each)),
    )
    await api.call(pinCanvas, { params: { name, canvas_id }, body: { pinned } }).catch(complain)
    await refresh()
  }

  const remove = (canvas: CanvasSummary) =>
    later({
      id: canvas.canvas_id,
      title: `“${nameOf(canvas)}” is deleted.`,
      description: 'The links to it go with it.',
      run: async () => {
        await api.call(deleteCanvas, { params: { name, canvas_id: canvas.canvas_id } }).catch(complain)
        await refresh()
      },
    })

  return { pending, pin, remove }
}

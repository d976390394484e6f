import { type CanvasSummary, deleteCanvas, pinCanvas } from '@roost/contracts/conversations/canvas'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { nameOf } from './names.ts'
import { canvasesQuery, canvasKey } from './queries.ts'

export type CanvasActions = ReturnType<typeof useCanvasActions>

/** The owner's actions on canvases. `pending`: canvases shown as if deleted. */
export function useCanvasActions(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const refresh = () => queries.invalidateQueries({ queryKey: canvasKey(name) })
  const showFault = (error: unknown) => {
    const { sentence, code } = describeFault(error)
    toast({ title: sentence, description: code, tone: 'danger' })
  }

  const pin = useOptimisticSave({
    queryKey: canvasKey(name),
    save: ({ canvas: { canvas_id }, pinned }: { canvas: CanvasSummary; pinned: boolean }) =>
      api.call(pinCanvas, { params: { name, canvas_id }, body: { pinned } }),
    shows: ({ canvas, pinned }) => [
      rowsOf<CanvasSummary>(canvasesQuery(api, name).queryKey, (row) => row.canvas_id === canvas.canvas_id, {
        pinned,
      }),
    ],
  })

  const remove = (canvas: CanvasSummary) =>
    later({
      id: canvas.canvas_id,
      title: `“${nameOf(canvas)}” deleted.`,
      description: 'Its share links are deleted too.',
      run: async () => {
        await api.call(deleteCanvas, { params: { name, canvas_id: canvas.canvas_id } }).catch(showFault)
        await refresh()
      },
    })

  return { pending, pin: pin.mutate, remove }
}

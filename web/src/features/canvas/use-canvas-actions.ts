import { type CanvasSummary, deleteCanvas, pinCanvas } from '@roost/contracts/conversations/canvas'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
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

  const pin = useAtOnce({
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
      title: `“${nameOf(canvas)}” is deleted.`,
      description: 'The links to it go with it.',
      run: async () => {
        await api.call(deleteCanvas, { params: { name, canvas_id: canvas.canvas_id } }).catch(complain)
        await refresh()
      },
    })

  return { pending, pin: pin.mutate, remove }
}

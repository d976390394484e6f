import { useMutation } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { isWithin, nameOf, type Place, visibleName } from './paths.ts'
import { download, fileKeys, makeFolder, moveEntry, removeEntry, writeText } from './queries.ts'
import { showFault } from './show-fault.ts'

export type FileActions = ReturnType<typeof useFileActions>

/** Actions on the entries of a workspace. */
export function useFileActions(name: string) {
  const { api, queries } = useApp()
  const undo = useUndo()
  const refresh = () => queries.invalidateQueries({ queryKey: fileKeys.folders(name) })

  const saving = useMutation({
    mutationFn: (place: Place) => download(api, name, place),
    onError: showFault,
  })
  const removing = useMutation({
    mutationFn: (path: string) => removeEntry(api, name, path),
    onSuccess: (_reply, path) =>
      void toast({ title: 'Folder deleted', description: visibleName(nameOf(path)), tone: 'success' }),
    onError: showFault,
    onSettled: refresh,
  })

  /** Runs a pending deletion before a new file replaces it; otherwise it would delete the new file. */
  const settle = (path: string) => undo.now((id) => isWithin(id, path) || isWithin(path, id))

  return {
    /** Files with a pending deletion, shown as deleted. */
    removed: undo.pending,
    settle,
    download: saving.mutate,
    isDownloading: saving.isPending,
    removeFile(path: string): void {
      undo.later({
        id: path,
        title: 'File deleted',
        description: visibleName(nameOf(path)),
        run: async () => {
          await removeEntry(api, name, path).catch(showFault)
          await refresh()
          queries.removeQueries({ queryKey: fileKeys.file(name, path) })
        },
      })
    },
    /** Cannot be undone: confirm first. */
    removeFolder: removing.mutateAsync,
    isRemoving: removing.isPending,
    /** Throws the error of the platform. */
    async create({ kind, path }: Place): Promise<void> {
      await settle(path)
      if (kind === 'folder') await makeFolder(api, name, path)
      else await writeText(api, name, path, '')
      await refresh()
    },
    /** Throws the error of the platform. */
    async move(from: string, to: string): Promise<void> {
      await settle(from)
      await settle(to)
      await moveEntry(api, name, from, to)
      await refresh()
    },
    refresh: () => void queries.invalidateQueries({ queryKey: fileKeys.all(name) }),
  }
}

import { useMutation } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { complain } from './complain.ts'
import { isWithin, nameOf, type Place, visibleName } from './paths.ts'
import { download, fileKeys, makeFolder, removeEntry, writeText } from './queries.ts'

export type FileActions = ReturnType<typeof useFileActions>

/** What is done to the entries of a workspace, whichever of them is shown. */
export function useFileActions(name: string) {
  const { api, queries } = useApp()
  const undo = useUndo()
  const refresh = () => queries.invalidateQueries({ queryKey: fileKeys.folders(name) })

  const saving = useMutation({
    mutationFn: (place: Place) => download(api, name, place),
    onError: complain,
  })
  const removing = useMutation({
    mutationFn: (path: string) => removeEntry(api, name, path),
    onSuccess: (_reply, path) =>
      void toast({ title: 'Folder deleted', description: visibleName(nameOf(path)), tone: 'success' }),
    onError: complain,
    onSettled: refresh,
  })

  /** A file that is about to go must not take along what is put in its place. */
  const settle = (path: string) => undo.now((id) => isWithin(id, path) || isWithin(path, id))

  return {
    /** Files whose end has been asked for; shown as gone. */
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
          await removeEntry(api, name, path).catch(complain)
          await refresh()
          queries.removeQueries({ queryKey: fileKeys.file(name, path) })
        },
      })
    },
    /** Cannot be taken back: ask before. */
    removeFolder: removing.mutateAsync,
    isRemoving: removing.isPending,
    /** Throws what the platform answers. */
    async create({ kind, path }: Place): Promise<void> {
      await settle(path)
      if (kind === 'folder') await makeFolder(api, name, path)
      else await writeText(api, name, path, '')
      await refresh()
    },
    refresh: () => void queries.invalidateQueries({ queryKey: fileKeys.all(name) }),
  }
}

import {
  exportCredentials,
  type InjectCredentials,
  importCredentials,
  injectCredentials,
} from '@roost/contracts/agents/credentials'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { credentialKeys } from './queries.ts'

/** Writes files into the workspace, all or none. Throws the error for the form. */
export function useInjectFiles(name: string) {
  const { api, queries } = useApp()
  return async (body: Partial<InjectCredentials>): Promise<void> => {
    const { files_written } = await api.call(injectCredentials, { params: { name }, body })
    toast({
      title: `${plural(files_written.length, 'file')} written. The next run uses them.`,
      description: files_written.join(', '),
      tone: 'success',
    })
    await queries.invalidateQueries({ queryKey: credentialKeys.ofAgent(name) })
  }
}

/** Exports the files to the encrypted bundle of the workspace, or imports them from it. */
export function useBundle(name: string) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async (way: 'export' | 'import') => {
      if (way === 'export') {
        const { files_exported, encrypted_file } = await api.call(exportCredentials, { params: { name } })
        return { title: `${plural(files_exported, 'file')} exported to ${encrypted_file}.` }
      }
      const { files_imported } = await api.call(importCredentials, { params: { name } })
      return {
        title: `${plural(files_imported.length, 'file')} imported from the bundle.`,
        description: files_imported.join(', '),
      }
    },
    onSuccess: (report) => void toast({ ...report, tone: 'success' }),
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: credentialKeys.ofAgent(name) }),
  })
}

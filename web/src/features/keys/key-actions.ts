import { deleteKey, type McpKey, revokeKey } from '@roost/contracts/identity/keys'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { keysKey } from './queries.ts'

export type KeyEnding = { how: 'revoke' | 'delete'; key: McpKey }

/** Revokes or deletes a key. Neither can be undone. */
export function useEndKey(onEnded: (ending: KeyEnding) => void) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async ({ how, key: { id } }: KeyEnding) => {
      await (how === 'revoke'
        ? api.call(revokeKey, { params: { id } })
        : api.call(deleteKey, { params: { id } }))
    },
    onSuccess: (_reply, ending) => {
      toast({
        title: `“${ending.key.name}” ${ending.how === 'revoke' ? 'revoked' : 'deleted'}.`,
        tone: 'success',
      })
      onEnded(ending)
      return queries.invalidateQueries({ queryKey: keysKey })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
}

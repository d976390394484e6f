import {
  type AgentPermissions,
  grantPermission,
  type listPermissionEdges,
  putPermissions,
  withdrawPermission,
} from '@roost/contracts/agents/permissions'
import type { CallReply } from '@roost/contracts/client'
import { changeOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { toast } from '../../ui/toast.tsx'
import { type Edge, rowOf, withChoice, withEdge } from './edges.ts'
import { permissionKeys } from './queries.ts'

type Edges = CallReply<typeof listPermissionEdges>

/** Grants or revokes one edge optimistically. */
export function useEdge() {
  const { api, queries } = useApp()
  return useOptimisticSave({
    queryKey: permissionKeys.edges,
    save: async ({ source, target, permitted }: Edge & { permitted: boolean }) => {
      const endpoint = permitted ? grantPermission : withdrawPermission
      await api.call(endpoint, { params: { name: source, target } })
      // Each agent has its own query.
      void queries.invalidateQueries({ queryKey: permissionKeys.of(source) })
    },
    shows: ({ permitted, ...edge }) => [
      changeOf<Edges>(permissionKeys.edges, (now) => ({ edges: withEdge(now.edges, edge, permitted) })),
      changeOf<AgentPermissions>(permissionKeys.of(edge.source), (now) => {
        const chosen = rowOf(now).filter((agent) =>
          agent.name === edge.target ? permitted : agent.permitted,
        )
        return withChoice(now, new Set(chosen.map(({ name }) => name)))
      }),
    ],
  })
}

type RowChange = { names: ReadonlySet<string>; message?: string }

/** Replaces the whole row, with an Undo to the previous row. */
export function useRow(name: string) {
  const { api, queries } = useApp()
  const queryKey = permissionKeys.of(name)
  const replace = useOptimisticSave({
    queryKey: permissionKeys.edges,
    save: ({ names }: RowChange & { before: readonly string[] }) =>
      api.call(putPermissions, { params: { name }, body: { permitted_agents: [...names] } }),
    shows: ({ names }) => [changeOf<AgentPermissions>(queryKey, (now) => withChoice(now, names))],
    stale: [queryKey],
    onSuccess: (_reply, { message, before }) => {
      if (!message) return
      const onAction = () => change({ names: new Set(before) })
      toast({ title: message, tone: 'success', action: { label: 'Undo', onAction } })
    },
  })
  function change(next: RowChange): void {
    const now = queries.getQueryData<AgentPermissions>(queryKey)
    const before = now ? rowOf(now).filter((agent) => agent.permitted) : []
    replace.mutate({ ...next, before: before.map((agent) => agent.name) })
  }
  return { ...replace, mutate: change }
}

import {
  type AgentPermissions,
  grantPermission,
  type listPermissionEdges,
  putPermissions,
  withdrawPermission,
} from '@roost/contracts/agents/permissions'
import type { CallReply } from '@roost/contracts/client'
import { changeOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { toast } from '../../ui/toast.tsx'
import { type Edge, rowOf, withChoice, withEdge } from './edges.ts'
import { permissionKeys } from './queries.ts'

type Edges = CallReply<typeof listPermissionEdges>

/** Grants or withdraws one edge; shown at once and taken back when it is refused. */
export function useEdge() {
  const { api, queries } = useApp()
  return useAtOnce({
    queryKey: permissionKeys.edges,
    save: async ({ source, target, permitted }: Edge & { permitted: boolean }) => {
      const endpoint = permitted ? grantPermission : withdrawPermission
      await api.call(endpoint, { params: { name: source, target } })
      // The row is another query for each agent.
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

type RowChange = { names: ReadonlySet<string>; said?: string }

/** Replaces the whole row, offering the one before. */
export function useRow(name: string) {
  const { api, queries } = useApp()
  const queryKey = permissionKeys.of(name)
  const replace = useAtOnce({
    queryKey: permissionKeys.edges,
    save: ({ names }: RowChange & { before: readonly string[] }) =>
      api.call(putPermissions, { params: { name }, body: { permitted_agents: [...names] } }),
    shows: ({ names }) => [changeOf<AgentPermissions>(queryKey, (now) => withChoice(now, names))],
    stale: [queryKey],
    onSuccess: (_reply, { said, before }) => {
      if (!said) return
      const onAction = () => change({ names: new Set(before) })
      toast({ title: said, tone: 'success', action: { label: 'Undo', onAction } })
    },
  })
  function change(wanted: RowChange): void {
    const now = queries.getQueryData<AgentPermissions>(queryKey)
    const before = now ? rowOf(now).filter((agent) => agent.permitted) : []
    replace.mutate({ ...wanted, before: before.map((agent) => agent.name) })
  }
  return { ...replace, mutate: change }
}

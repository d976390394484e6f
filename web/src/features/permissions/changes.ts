import {
  type AgentPermissions,
  grantPermission,
  type listPermissionEdges,
  putPermissions,
  withdrawPermission,
} from '@roost/contracts/agents/permissions'
import type { CallReply } from '@roost/contracts/client'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { type App, useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { type Edge, rowOf, withChoice, withEdge } from './edges.ts'
import { permissionKeys } from './queries.ts'

type Edges = CallReply<typeof listPermissionEdges>

/** Grants or withdraws one edge; shown at once and taken back when it is refused. */
export function useEdge() {
  const app = useApp()
  return useMutation({
    mutationFn: async ({ source, target, permitted }: Edge & { permitted: boolean }) => {
      const endpoint = permitted ? grantPermission : withdrawPermission
      await app.api.call(endpoint, { params: { name: source, target } })
    },
    onMutate: async ({ source, target, permitted }) => {
      await cancel(app, source)
      showEdge(app, { source, target }, permitted)
    },
    onError: (error, { source, target, permitted }) => {
      showEdge(app, { source, target }, !permitted)
      complain(error)
    },
    onSettled: (_reply, _error, { source }) => refresh(app, source),
  })
}

/** Replaces the whole row, offering the one before. */
export function useRow(name: string) {
  const app = useApp()
  const queryKey = permissionKeys.of(name)
  const replace = useMutation({
    mutationFn: ({ names }: { names: ReadonlySet<string>; said?: string }) =>
      app.api.call(putPermissions, { params: { name }, body: { permitted_agents: [...names] } }),
    onMutate: async ({ names }) => {
      await cancel(app, name)
      const before = app.queries.getQueryData<AgentPermissions>(queryKey)
      if (before) app.queries.setQueryData(queryKey, withChoice(before, names))
      return before
    },
    onSuccess: (_reply, { said }, before) => {
      if (!said || !before) return
      const permitted = rowOf(before).filter((agent) => agent.permitted)
      const undo = () => replace.mutate({ names: new Set(permitted.map((agent) => agent.name)) })
      toast({ title: said, tone: 'success', action: { label: 'Undo', onAction: undo } })
    },
    onError: (error, _wanted, before) => {
      app.queries.setQueryData(queryKey, before)
      complain(error)
    },
    onSettled: () => refresh(app, name),
  })
  return replace
}

function showEdge({ queries }: App, edge: Edge, isThere: boolean): void {
  queries.setQueryData<Edges>(
    permissionKeys.edges,
    (now) => now && { edges: withEdge(now.edges, edge, isThere) },
  )
  queries.setQueryData<AgentPermissions>(permissionKeys.of(edge.source), (now) => {
    if (!now) return now
    const names = new Set(
      rowOf(now)
        .filter(({ name, permitted }) => (name === edge.target ? isThere : permitted))
        .map(({ name }) => name),
    )
    return withChoice(now, names)
  })
}

function cancel({ queries }: App, source: string) {
  return Promise.all([
    queries.cancelQueries({ queryKey: permissionKeys.edges }),
    queries.cancelQueries({ queryKey: permissionKeys.of(source) }),
  ])
}

function refresh({ queries }: App, source: string) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: permissionKeys.edges }),
    queries.invalidateQueries({ queryKey: permissionKeys.of(source) }),
  ])
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

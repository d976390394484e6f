import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type MountState, mountStateLabels } from './mount-state.ts'

const tones = { mounted: 'success', coming: 'warning', leaving: 'warning', unread: 'neutral' } as const

export function FolderRows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line bg-surface">
      {children}
    </ul>
  )
}

/** One shared folder: the other agent, the mount path and the mount state. */
export function FolderRow({
  agent,
  path,
  mountState,
}: {
  agent: string
  path: string
  mountState: MountState
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <AgentAvatar name={agent} size="sm" />
      <div className="min-w-0 flex-1 basis-40">
        <Link
          to="/agents/$name"
          params={{ name: agent }}
          search={{ tab: 'folders' }}
          className="block truncate text-sm font-medium text-ink hover:text-accent"
        >
          {agent}
        </Link>
        <code className="block truncate text-muted text-xs" title={path}>
          {path}
        </code>
      </div>
      <Badge tone={tones[mountState]}>{mountStateLabels[mountState]}</Badge>
    </li>
  )
}

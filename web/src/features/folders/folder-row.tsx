import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { type Standing, standingWords } from './standing.ts'

const tones = { mounted: 'success', coming: 'warning', leaving: 'warning', unread: 'neutral' } as const

export function FolderRows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line bg-surface">
      {children}
    </ul>
  )
}

/** One agent at the other end, where the folder stands, and whether it does now. */
export function FolderRow({ agent, path, standing }: { agent: string; path: string; standing: Standing }) {
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
      <Badge tone={tones[standing]}>{standingWords[standing]}</Badge>
    </li>
  )
}

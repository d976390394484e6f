import type { ReactNode } from 'react'
import { Title } from '../ui/title.tsx'
import { Logo } from './logo.tsx'

/** The frame of the pages shown before sign-in. */
export function SignedOutPage({
  title,
  description,
  children,
}: {
  title: string
  description?: string
  children: ReactNode
}) {
  return (
    <main className="grid min-h-dvh place-items-center bg-canvas px-4 py-10 text-ink">
      <Title of={[title]} />
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center gap-3 text-center">
          <Logo className="size-10 text-accent" />
          <h1 className="font-semibold text-xl tracking-tight">{title}</h1>
          {description ? <p className="text-muted text-sm">{description}</p> : null}
        </div>
        <div className="rounded-xl border border-line bg-surface p-6 shadow-sm">{children}</div>
      </div>
    </main>
  )
}

import type { SharedCanvas } from '@roost/contracts/conversations/canvas-shares'
import { Printer } from 'lucide-react'
import { Logo } from '../../shell/logo.tsx'
import { IconButton } from '../../ui/button.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { CanvasSheet } from './canvas-sheet.tsx'
import { nameOf } from './names.ts'

/** A canvas on its own page, for reading and printing. */
export function SharedCanvasSheet({ canvas }: { canvas: SharedCanvas }) {
  return (
    <main className="mx-auto min-h-dvh w-full max-w-6xl px-4 py-8 text-ink print:max-w-none print:p-0">
      <header className="mb-6 flex items-start justify-between gap-4">
        <div className="min-w-0">
          <h1 className="break-words font-semibold text-xl tracking-tight">{nameOf(canvas)}</h1>
          <p className="mt-1 text-muted text-sm">
            {canvas.agent_name} · as of <ExactTime at={canvas.updated_at} />
            {canvas.stale && ' · not updated for 7 days'}
          </p>
        </div>
        <div className="flex shrink-0 items-center gap-2 print:hidden">
          <IconButton label="Print" icon={<Printer aria-hidden />} onClick={() => window.print()} />
          <Logo className="size-6 text-accent" />
        </div>
      </header>
      <CanvasSheet canvas={canvas} Heading="h2" filesOf={null} />
    </main>
  )
}

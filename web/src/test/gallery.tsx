import '../lib/zod-without-eval.ts'
import '../ui/tokens.css'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { cspNonce } from '../lib/csp.ts'
import { Toaster } from '../ui/toast.tsx'
import { ActionsPart } from './gallery-actions.tsx'
import { FiguresPart } from './gallery-figures.tsx'
import { FormPart } from './gallery-form.tsx'
import { OverlaysPart } from './gallery-overlays.tsx'
import { StatesPart } from './gallery-states.tsx'
import { TablePart } from './gallery-table.tsx'

/** Every component once, for the browser tests: `?part=table&theme=dark`. */
const search = new URLSearchParams(location.search)
document.documentElement.dataset.theme = search.get('theme') === 'dark' ? 'dark' : 'light'
setNonce(cspNonce())

const parts = {
  actions: ActionsPart,
  figures: FiguresPart,
  form: FormPart,
  overlays: OverlaysPart,
  states: StatesPart,
  table: TablePart,
} as const

const part = search.get('part')
const shown = Object.entries(parts).filter(([name]) => part === null || part === name)
const element = document.getElementById('root')
if (!element) throw new Error('The page has no element with the id “root”.')
createRoot(element).render(
  <StrictMode>
    <main className="mx-auto flex max-w-5xl flex-col gap-8 p-4 sm:p-8">
      <h1 className="sr-only">Components</h1>
      {shown.map(([name, Part]) => (
        <Part key={name} />
      ))}
    </main>
    <Toaster />
  </StrictMode>,
)

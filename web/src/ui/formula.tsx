import { memo, useEffect, useRef, useState } from 'react'
import { loadCode } from '../lib/code.ts'
import { cx } from './class-names.ts'
import { definesCommands, type Formula as FormulaProps } from './formulas.ts'
import { useNear } from './use-near.ts'

/** A formula, drawn when it comes near the screen. Its source stays visible until then, and if it cannot be drawn. */
export const Formula = memo(function Formula({ tex, isDisplay }: FormulaProps) {
  const { ref, isNear } = useNear<HTMLSpanElement>(false)
  const drawing = useRef<HTMLSpanElement>(null)
  const [drawn, setDrawn] = useState<FormulaProps | null>(null)
  const isDrawn = drawn?.tex === tex && drawn.isDisplay === isDisplay
  useEffect(() => {
    if (!isNear || definesCommands(tex)) return
    let isCurrent = true
    loadCode(() => import('./draw-formula.ts')).then(
      ({ drawFormula }) => {
        if (isCurrent && drawing.current && drawFormula(drawing.current, { tex, isDisplay }))
          setDrawn({ tex, isDisplay })
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [isNear, tex, isDisplay])
  return (
    <span
      ref={ref}
      className={cx(isDisplay && 'block max-w-full overflow-x-auto overflow-y-hidden py-1')}
      {...(isDisplay ? { role: 'group', 'aria-label': 'Formula', tabIndex: 0 } : {})}
    >
      <span ref={drawing} className={cx(!isDrawn && 'hidden')} />
      {!isDrawn && (
        <code className="font-mono text-[0.9em] text-muted [font-variant-ligatures:none]">{tex}</code>
      )}
    </span>
  )
})

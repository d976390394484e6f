import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'

const pauseSeconds = 30

/** Resends the code after a delay in which the e-mail may still arrive. */
export function ResendButton({ onResend }: { onResend: () => Promise<void> }) {
  const { left, restart } = useCountdown(pauseSeconds)
  const resend = useMutation({
    mutationFn: onResend,
    onSuccess: () => {
      restart()
      toast({ title: 'New code sent. Only the newest code works.' })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <Button variant="ghost" disabled={left > 0} pending={resend.isPending} onClick={() => resend.mutate()}>
      {left > 0 ? <span className="tabular-nums">Resend code in {left} s</span> : 'Resend code'}
    </Button>
  )
}

/** Seconds left of a countdown. */
function useCountdown(seconds: number) {
  const [since, setSince] = useState(Date.now)
  const [now, setNow] = useState(since)
  const left = Math.max(0, seconds - Math.floor((now - since) / 1000))
  const isOver = left === 0
  useEffect(() => {
    if (isOver) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isOver])
  const restart = () => {
    const moment = Date.now()
    setSince(moment)
    setNow(moment)
  }
  return { left, restart }
}

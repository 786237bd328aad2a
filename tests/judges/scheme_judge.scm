;; Judges Scheme texts by Guile's reader: every datum up to the end of the text is read.
;;
;; Reads NUL-separated documents from standard input; exit status 0 or 1 as in judging.py.
;; Run: guile --no-auto-compile -s scheme_judge.scm

(use-modules (ice-9 textual-ports) (ice-9 format))

;; R7RS symbols in bars and escapes in strings are options of Guile's reader.
(read-enable 'r7rs-symbols)
(read-enable 'r6rs-hex-escapes)

(define input
  (begin
    (set-port-encoding! (current-input-port) "UTF-8")
    (set-port-conversion-strategy! (current-input-port) 'error)
    (get-string-all (current-input-port))))

(define documents
  (let ((parts (string-split input #\nul)))
    (if (string-null? (car (last-pair parts)))
        (reverse (cdr (reverse parts)))
        parts)))

(define (rejection text)
  (catch #t
    (lambda ()
      (call-with-input-string text
        (lambda (port)
          (let loop ()
            (if (eof-object? (read port)) #f (loop))))))
    (lambda (key . arguments)
      (format #f "~s ~s" key arguments))))

(define rejected
  (let loop ((rest documents) (index 0) (found '()))
    (if (null? rest)
        (reverse found)
        (let ((reason (rejection (car rest))))
          (loop (cdr rest) (+ index 1)
                (if reason (cons (list index (car rest) reason) found) found))))))

(set-port-encoding! (current-output-port) "UTF-8")
(format #t "accepted ~a of ~a\n" (- (length documents) (length rejected)) (length documents))
(let loop ((rest rejected) (shown 0))
  (when (and (pair? rest) (< shown 5))
    (let ((text (cadar rest)))
      (format #t "--- document ~a, ~a characters: ~a\n~a\n" (caar rest) (string-length text) (caddar rest)
              (substring text 0 (min 600 (string-length text)))))
    (loop (cdr rest) (+ shown 1))))
(exit (if (and (pair? documents) (null? rejected)) 0 1))

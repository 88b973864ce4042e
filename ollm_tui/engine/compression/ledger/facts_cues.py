"""Cue phrases that show which kind of fact a sentence is, with `;` between, `*` for anything.

They are matched in plain words (`facts_words`): lower case, contractions written out. HINTS are
so common that they count only where nothing clearer is found.
"""

CONSTRAINT = """
must; never; always; only; do not; at most; at least; no more than; no less than; not more than;
not less than; no fewer than; no later than; no longer than; no earlier than; maximum; minimum;
should; shall; has to; have to; need to; needs to; required; requires; requirement; requirements;
mandatory; forbidden; not allowed; prohibited; off limits; off-limits; out of scope; avoid;
ensure; make sure; be sure; stick to; stick with; leave * alone; hands off; can not; may not;
under no circumstances; no matter what; no exceptions; without; instead of; rather than; deadline;
due; by monday; by tuesday; by wednesday; by thursday; by friday; by saturday; by sunday;
by tomorrow; by tonight; by noon; by midnight; by the end of; by end of; before monday;
before friday; budget; limited to; constraint; constraints; rule; rules; exactly; strictly;
guarantee; i insist; i need; we need; i want; we want; i would like; i expect; prefer; preferably;
important; remember; do not forget; mind that; use * not; no new; no external; allergic;
vegetarian; vegan; stays; leave * as; keep; muss; müssen; darf; dürfen; nie; niemals; immer; nur;
kein; keine; keinen; mindestens; höchstens; maximal; bis freitag; bis montag; auf keinen fall;
doit; doivent; jamais; toujours; seulement; uniquement; interdit; au moins; au plus; pas plus de;
il faut; avant vendredi; ne * pas; debe; deben; nunca; jamás; siempre; solo; sólo; solamente;
prohibido; al menos; como máximo; a lo sumo; hay que; tiene que; antes del
"""

CONSTRAINT_HINTS = """
use; please; needs; need; max; min; except; unless; until; limit; condition; compatible; support;
supports; under; below; above; within; less than; more than; fewer than; nothing; nobody; no one;
none of; not; no; careful; respect; follow; comply; conform; i care; we care; afford; goal is;
the goal; assume; remain; remains; want; wants; would like; i like; i hate; my; our; we have;
i have; we are; i am; expect; rather; instead; soll; sollen; ohne; bitte; sans; n'utilise pas;
sin; no uses; let us; write; add; make; remove; call; put; set; go; we use; i use; is; are
"""

DECISION = """
decided; decide on; decision; decisions; chose; choose; chosen; choosing; choice; opted; opting;
opt for; settled; settle on; settling on; agreed; agree on; agreement; picked; picking; selected;
going with; go with; went with; gone with; go for; going for; went for; we will use; i will use;
will use; we are using; we will keep; i will keep; we will store; we will put; we will go;
we will do; we will make; we will have; we will stick; we will treat; we will stay; let us use;
let us go; let us keep; let us stick; let us do; let us make; let us put; let us store;
let us take; let us call; let us drop; let us skip; let us move; let us switch; let us split;
let us settle; let us stay; let us base; stick with; sticking with; stick to; sticking to;
instead of; rather than; in favour of; in favor of; switched; switch to; switching to;
switch from; moved to; moved from; moved * to; moving to; migrated; migrate to; migrating to;
replaced; replace * with; replace * by; from now on; going forward; finalised; finalized;
conclusion; concluded; resolved to; committed to; commit to; the plan is; plan is to; verdict;
standardise on; standardize on; standardised; standardized; adopted; adopt; adopting; approved;
winner; wins; won; best option; best choice; best fit; makes most sense; makes the most sense;
the way to go; the right call; lock in; locked in; signed off; landed on; we agreed; as agreed;
consensus; deliberately; on purpose; intentionally; by design; changed; renamed; postponed;
rescheduled; raised; lowered; bumped; increased; reduced; capped; will be; we keep; entschieden;
entscheidung; entschluss; wir nehmen; nehmen wir; wir verwenden; wir nutzen; festgelegt; geeinigt;
stattdessen; anstatt; statt; beschlossen; wir bleiben; décidé; décision; choisi; on utilise;
on prend; nous utilisons; nous utiliserons; opté; retenu; plutôt que; au lieu de; on garde;
on part sur; decidido; decidimos; decisión; elegimos; elegido; usaremos; vamos a usar; vamos con;
optamos; optado; en lugar de; en vez de; nos quedamos con; acordado
"""

DECISION_HINTS = """
we use; i am using; now uses; now use; uses; using; we will; let us; i will use; instead; pick;
move to; replacing; final; finally; final answer; plan :; approach; makes more sense; the better;
keeping; lives in; will live; belongs in; belongs to; belong; goes into; goes in; end up with;
ended up; ends up; locked; fixed on; set on; ruling; resolution; policy; design; strategy;
convention; trade-off; tradeoff; changing; rename; introduced; introduce; the idea is; designed;
structured; based on; basing; is going to be; settles it; as discussed; only; must; never; always;
we are going to; i am going to; recommend; recommended; recommendation; suggest; preference; keep;
stays; stay; remain; we now; i set; i have set; set to; set the; brought forward; scheduled;
i made; i put; i kept; i used; i am keeping; i went; we went; we made; we put; we kept; i moved;
i switched; i changed; prefer; preferred; confirmed; becomes; replaces; replaced by; without;
shall; should; it is
"""

TODO = """
todo; todos; to-do; to do; fixme; xxx; still need; still needs; still have to; still has to;
still missing; still open; still must; still want; still lack; still lacks; still pending;
still outstanding; still unfinished; still unclear; still unresolved; should still; must still;
still to; remaining; left to do; is left; are left; next :; next step; next steps; next up;
next task; up next; need to; needs to; later :; pending; outstanding; open question;
open questions; open item; open items; open point; open points; open issue; open issues; open :;
open task; open tasks; follow-up; follow up; follow-ups; not yet; yet to; do not forget;
remember to; have not * yet; has not * yet; is not * yet; are not * yet; unfinished; incomplete;
to be done; tbd; tbc; to be decided; to be written; to be added; to be fixed; to be tested;
to be confirmed; action item; action items; backlog; work in progress; will have to; will need;
ought to; unresolved; not started; not finished; not implemented; not tested; not covered;
not written; waiting for; waiting on; blocked on; blocked by; blocked until; on my list;
on our list; on the list; deferred; parked; put off; for later; left for; come back to;
get back to; revisit; reminder; what remains; one thing left; things left; thing left; loose end;
loose ends; before release; before we ship; before shipping; before launch; before merging;
noch zu; noch offen; fehlt noch; fehlen noch; muss noch; müssen noch; ausstehend; offen :;
nächster schritt; nächste schritte; zu erledigen; später :; offen ist;
offen sind; steht noch aus; nicht vergessen;
reste à; restent à; reste encore; à faire; il faut encore; prochaine étape; prochaines étapes;
manque encore; pas encore; il manque; falta; faltan; pendiente; pendientes; queda por; quedan por;
por hacer; próximo paso; próximos pasos; aún no
"""

TODO_HINTS = """
remains; remain; next we; next i; next ,; later we; later on; later; afterwards; after that we;
once that is done; once this is done; tomorrow; next week; in the next; we should; i should;
you should; we must; i must; have to; has to; missing; lacks; planned; leave * for; i will still;
then i will; then we will; next thing; to finish; plan to; planning to; intend to; want to;
i still; we still; you still; still; worth doing; to check; to verify; to be checked;
to be verified; to be reviewed; unclear whether; undecided; stub; stubbed; placeholder; yet; open;
left; not done; todavía; needs a; needs an; needs
"""

DONE = """
done; finished; completed; complete; implemented; fixed; added; wrote; written; resolved; closed;
merged; shipped; took care of; taken care of; in place; now works; works now; passes now;
pass now; passing now; no longer needed; handled; solved; created; removed; updated; tested;
covered; deployed; planted; bought; ordered; cleaned; installed; sorted; ticked off; checked off;
off the list; off my list; off our list; out of the way; erledigt; fertig; behoben; terminé;
terminée; fait; corrigé; hecho; terminado; terminada;
corregido; resuelto
"""

CORRECTION = """
scrap that; scratch that; strike that; ignore that; forget it; forget that; never mind; nevermind;
no wait; wait a; wait no; wait ,; hold on; sorry; oops; whoops; ups; my bad; my mistake; my fault;
i was wrong; is wrong; was wrong; wrong number; typo; misread; mistyped; mixed up; correction;
correct me; correct myself; i correct; to correct; change of plan; change of plans; plans changed;
plan changed; changed * mind; changed * minds; second thought; second thoughts; on reflection;
overruled; vetoed; change that; change it; modify; revise that; take that back; i take * back; i
meant; i mean; turns out; came back; rebooked; it moved; final answer; instead; switch to; make
it; make that; entschuldigung; falsch; sondern; pardon; je me suis trompé; perdón; me equivoqué
"""

CORRECTION_HINTS = """
actually; rather; better; now; changed; change; updated; update; call it; back to; too; not; no;
complain; complains; complained; want * there; wants * there; want it; wants it; says it; said it;
asked for; should be; must be; prefers; prefer; final; only; after all; drop; drops; lieber; doch;
jetzt; plutôt; mejor; ahora
"""

DROPPED = """
forget; forget about; cancelled; canceled; called off; never mind; no need; not need; not needed;
not necessary; unnecessary; obsolete; drop; dropped; dropping; skip; skipped; skipping; scrap;
scrapped; leave out; left out; will not be; will not do; not doing; not going to; will not happen;
do without; off the table; not happening; out of scope; abandoned; not anymore; not any more;
no longer; no more; entfällt; gestrichen; lassen wir; brauchen wir nicht; nicht mehr; nicht nötig;
abgesagt; plus besoin; annulé; ya no; cancelado
"""
"""Phrases that say that a task will not be done."""

NOT_DONE = """
not; never; will; would; should; must; need; needs; to be; still; todo; once; until; before; if;
when; later; yet; remaining; remains; left; next; partly; partially; almost; half; noch; nicht;
pas; encore; falta; todavía; ?
"""

DEAD_END = """
did not work; does not work; do not work; not working; will not work; would not work;
never worked; did not help; does not help; not help; no luck; to no avail; in vain; no success;
little success; made it worse; made things worse; made no difference; makes no difference;
no difference; no effect; no improvement; tried * but; tried * failed; tried * without;
tried * however; tried * still; trying * failed; we tried; i tried; tried :; attempt failed;
attempted * but; attempts failed; failed , so; failed so; unsuccessful; unsuccessfully;
without success; ruled out; rule out; ruling out; rolled back; roll back; rolling back; rollback;
reverted; revert; reverting; abandoned; abandon; abandoning; gave up; giving up; given up;
dead end; dead-end; dead ends; blind alley; backed out; discarded; rejected; dismissed;
not viable; not an option; not feasible; infeasible; unworkable; not suitable; unsuitable;
scrapped; dropped the idea; undid; hit a wall; leads nowhere; led nowhere; went nowhere;
goes nowhere; waste of time; turned out * not; turns out * not; turned out too; proved too;
proved to be; turned out to be; not good enough; not solve; not fix; did not fix; backfired;
no good; can not be used; will not help; no use; not worth; was a mistake; were a mistake;
wrong path; wrong track; fell apart; fell through; fell short; did not hold; did not survive;
not reliable; unreliable; do not retry; do not try; bad idea; out of the question;
hat nicht funktioniert; funktioniert nicht; klappt nicht; klappte nicht; verworfen; zurückgerollt;
sackgasse; gescheitert; ausgeschlossen; rückgängig; vergeblich; n'a pas marché; ne marche pas;
ne fonctionne pas; n'a pas fonctionné; échoué; abandonné; écarté; impasse; annulé; no funcionó;
no funciona; no sirvió; no sirve; descartado; descartamos; descartada; fracasó;
callejón sin salida; revertido; revertimos
"""

DEAD_END_HINTS = """
tried; trying to; attempted; attempt; attempts; experiment; experimented; failed because;
failed again; fails because; which failed; that failed; not possible; impossible; undone; proved;
too slow; too expensive; too brittle; too fragile; too complex; too heavy; too flaky; wasted;
useless; regression; regressed; died; rotted; withered; failed to; failed; not work; no longer;
versucht; essayé; intentamos; intenté; probamos; probé
"""

ERROR = """
error; errors; exception; traceback; fails with; failed with; failing with; fails; failing;
crashes; crashed; crash; panics; panicked; threw; throws; raises; raised an; segfault;
segmentation fault; timed out; times out; refused; denied; not found; unavailable; broken; breaks;
broke; bug; bugs; corrupt; corrupted; corruption; mismatch; leak; leaks; leaked; leaking;
deadlock; deadlocked; overflow; out of memory; oom; oomkilled; killed; aborted; invalid; conflict;
duplicate key; violates; violation; unreachable; stack trace; complains; complained; warning;
problem; wrong; symptom; root cause; culprit; fault; flaky; fehler; abgestürzt; problème; erreur;
plante; échoue; fallo; falla; excepción
"""

CHANGE = """
changed; change; changing; raised; raise; lowered; lower; bumped; bump; increased; increase;
reduced; reduce; decreased; decrease; cut; updated; update; moved; move; switched; switch; now;
instead; new; anymore; any more; no longer; revised; revise; replaced; replace; actually;
correction; adjusted; adjust; extended; extend; shortened; dropped; drop; doubled; halved;
postponed; rescheduled; renamed; rename; rather; reconsidered; after all; second thought;
migrated; migrate; swapped; swap; superseded; scratch that; forget; upgraded; upgrade; tightened;
loosened; relaxed; downgraded; pushed; brought forward; make that; make it; back to; previously;
formerly; used to; on reflection; is out; since; earlier; takes over; took over; rebuilt;
reworked; redone; went back; changed my mind; contrary to; was * before; outdated; obsolete;
jetzt; nun; geändert; ändern; stattdessen; statt; doch; erhöht; gesenkt; maintenant; désormais;
changé; plutôt; finalement; ahora; cambiado; cambiamos; cambia; mejor;
these days; as of; history; threw; thrown; better; currently; meanwhile; newly; this time; again;
by now; any longer; recently; updated to; new answer; second attempt; i was wrong; take back;
taken back; was a mistake
"""
